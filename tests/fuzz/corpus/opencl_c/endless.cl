#define A B B
#define B C C
#define C D D
#define D E E
#define E A A
int x = A;
/* no end