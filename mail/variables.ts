/** What each kind of mail tells its template. All of it is plain JSON, so that a queue can hold it. */

interface CommonVariables {
  SiteURL: string
  Email: string
  /** The person's user_metadata. Anybody may have written it. */
  Data: Record<string, unknown>
}

interface LinkVariables extends CommonVariables {
  ConfirmationURL: string
  /** The code to be typed. */
  Token: string
  /** The token of the link, with its prefix if it has one. */
  TokenHash: string
  RedirectTo: string
}

export interface MailVariables {
  confirmation: LinkVariables
  invite: LinkVariables
  recovery: LinkVariables
  magic_link: LinkVariables
  /** Email is the current address; the link and the codes are those of SendingTo. */
  email_change: LinkVariables & { NewEmail: string; SendingTo: string }
  reauthentication: CommonVariables & { Token: string }
  password_changed_notification: CommonVariables
  email_changed_notification: CommonVariables & { OldEmail: string }
  phone_changed_notification: CommonVariables & { Phone: string; OldPhone: string }
  identity_linked_notification: CommonVariables & { Provider: string }
  identity_unlinked_notification: CommonVariables & { Provider: string }
  mfa_factor_enrolled_notification: CommonVariables & { FactorType: string }
  mfa_factor_unenrolled_notification: CommonVariables & { FactorType: string }
}
