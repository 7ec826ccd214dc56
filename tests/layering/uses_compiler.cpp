#include <weft/function.h>
