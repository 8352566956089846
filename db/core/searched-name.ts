/** The indexed expression of a user's name. db/users/search.ts must use the same text for the index to apply. */
export const searchedName =
  "lower(left(coalesce(raw_user_meta_data ->> 'full_name', raw_user_meta_data ->> 'name'), 255))"
