/** The indexed expression of a user's name. db/users/search.ts must use the same text for the index to apply. */
export const searchedName =
  "lower(left(coalesce(raw_user_meta_data ->> 'full_name', raw_user_meta_data ->> 'name'), 255))"

/** Indexes for any part of an email address or phone number, and of a name unless names are not indexed. */
export const trigrams = {
  withNames: 'postern_users_trigram_idx',
  withoutNames: 'postern_users_addresses_trigram_idx',
}
