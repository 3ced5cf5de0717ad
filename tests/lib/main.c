#include "lib/test.h"

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
