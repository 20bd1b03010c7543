/* How many descriptors this process may have; the servers that it starts may have as many. */
#pragma once

/* To the hard limit; where that fails, it stays. */
void descriptors_raise(void);
unsigned descriptors_most(void);
/* Sessions that both sides have room for, beside what else they open; 0: hardly any. */
unsigned descriptors_sessions(void);
