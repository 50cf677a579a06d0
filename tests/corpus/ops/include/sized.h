#pragma once
#define SIZED_(type, n) type##n
#define SIZED(type, n) SIZED_(type, n) // a vector type by its number of elements
