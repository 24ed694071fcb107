/* No operator new. */
#define C_ONLY
#include "bump.h"
