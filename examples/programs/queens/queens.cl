// Places queens row by row. An item is a position: three masks of 10 bits have the columns that are taken, and the columns
// of the next row that the diagonals to the left and to the right reach.

// Counts the position by its number of queens, and publishes every position with a queen in the next row.
uint place(global const uint* board, global uint* positions, uint masks, tidegate_publisher publisher) {
  const uint size = board[0];
  const uint columns = masks & 0x3ff;
  const uint left = masks >> 10 & 0x3ff;
  const uint right = masks >> 20;
  atomic_inc(&positions[popcount(columns)]);
  for (uint column = 0; column < size; ++column) {
    const uint queen = 1u << column;
    if (((columns | left | right) & queen) == 0) {
      const uint next_left = (left | queen) << 1 & 0x3ff;
      const uint next_right = (right | queen) >> 1;
      TIDEGATE_PUBLISH(place, board, positions, columns | queen | next_left << 10 | next_right << 20);
    }
  }
  return TIDEGATE_DONE;
}
