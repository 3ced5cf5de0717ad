/* token_table.h - the table `tokens`, for the store's room. */
#ifndef LC_STORE_TOKEN_TABLE_H
#define LC_STORE_TOKEN_TABLE_H

#include "store/catalogue.h"

extern const lc_table lc_tokens_table;

#endif /* LC_STORE_TOKEN_TABLE_H */
