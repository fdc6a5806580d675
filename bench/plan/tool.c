/* The cheapest tool there is: says that it is done, and ends. Every runner in the comparison starts this program. */
#include <unistd.h>

int main(void) {
    static const char done[] = "{\"version\":\"0\",\"type\":\"done\",\"ok\":true}\n";
    return write(1, done, sizeof done - 1) == sizeof done - 1 ? 0 : 1;
}
