#include <weft/graph.h>
