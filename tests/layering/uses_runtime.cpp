#include <weft/executor.h>
#include <weft/array.h>
