/** A name of a user, a name that a user had, or a name that a sign-up reserved. */
export interface UsernamesTable {
  /** The canonical form. */
  username: string
  /** Equal for names that look alike. */
  skeleton: string
  user_id: string | null
  /** The address of a sign-up that is not confirmed yet. */
  reserved_for: string | null
  assigned_at: Date
  /** Null for the current name of a user; otherwise others may take it after this. */
  expires_at: Date | null
}
