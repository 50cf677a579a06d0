#include "inner.h"
#include <inner.h>
#line 12 "other.cl"
kernel void k(global element* x) { x[get_global_id(0)] = ONE; }


#pragma once
typedef float element;
#define ONE 1.0f
