#include "inner.h"


#include "inner.h"
