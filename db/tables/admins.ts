/** Users who may call the admin API. */
export interface AdminsTable {
  user_id: string
  role: 'owner' | 'operator' | 'support'
  created_at: Date
  updated_at: Date
}

/** One-time links by which a user becomes an admin. */
export interface AdminLinksTable {
  /** Only the hash of the token is stored. */
  token_hash: string
  /** The email it is for; null for a link that creates the first admin. */
  email: string | null
  role: AdminsTable['role']
  /** The admin who made it; null for a command. Their global sign-out ends it. */
  created_by: string | null
  created_at: Date
  expires_at: Date
}

/** Accounts whose credentials or addresses an admin below owner decided, without a proof of a holder before. */
export interface PreparedAccountsTable {
  user_id: string
  created_at: Date
}
