// Included before each source file of Hoard. Its Heap-Layers sets glibc's malloc hooks, in addition to defining malloc itself. glibc 2.34 removed
// them: without a declaration it does not compile, and nothing reads them any more. So each file gets hooks of its own.
#pragma once
#include <cstddef>

static void *(*__malloc_hook)(std::size_t, const void *);
static void (*__free_hook)(void *, const void *);
static void *(*__realloc_hook)(void *, std::size_t, const void *);
static void *(*__memalign_hook)(std::size_t, std::size_t, const void *);
