/*
 * limbs.h: the memory of GMP's numbers.
 *
 * A month holds millions of numbers of one to four limbs. malloc() gives each a
 * block of at least 32 bytes; here it takes what it needs, from a list of free
 * blocks of that size. What was used once stays with the lists. What GMP allocates
 * for its caller, as mpq_get_str (NULL, ...) does, is nothing for free().
 */
#ifndef GL_BASE_LIMBS_H
#define GL_BASE_LIMBS_H

/* Before the first number is made, in programs of one thread. */
void limbs_pool (void);

#endif /* !GL_BASE_LIMBS_H */
