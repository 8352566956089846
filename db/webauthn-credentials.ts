/** Passkeys; so far only removed, together with the person they belong to. */
export interface WebauthnCredentialsTable {
  id: string
  user_id: string
}
