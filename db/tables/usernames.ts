import type { Generated } from 'kysely'

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
  /** A hash of the network of the client that chose it, until the user's address is verified. */
  network: Generated<string | null>
  /** An admin set it: it is not one that another user chose before the address was verified. */
  by_admin: Generated<boolean>
  /** Null for the current name of a user; otherwise others may take it after this. */
  expires_at: Date | null
}
