/** How sessions were authenticated, and new sign-in methods, for which GoTrue has no columns. */
export interface SessionProofsTable {
  session_id: string
  /** The session was created with an SMS code: its amr says `otp`, as for a code by email. */
  by_sms: boolean
  /** The last reauthentication by password or code in this session. */
  reauthenticated_at: Date | null
  /** The pending email change was requested in this session, which survives it. */
  asks_email_change: boolean
}

/** What a user can sign in with. */
export type SignInMethod = 'password' | 'email' | 'phone' | 'identity' | 'passkey' | 'factor'

export interface NewSignInMethodsTable {
  user_id: string
  method: SignInMethod
  added_at: Date
  /** The email before a change: it gets security notifications too while the change is new. */
  previous_address: string | null
}
