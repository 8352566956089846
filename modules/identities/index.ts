/** Identities at providers: sign-in, linking and unlinking. */
export { createExternalSession } from './create-session.ts'
export { readAssertedAddress } from './emails.ts'
export {
  completeExternalSignIn,
  permitExternalUser,
  requireProviderEmail,
} from './oauth-sign-in.ts'
export type { AcceptedSignIn, ExternalUser } from './types.ts'
export { unlinkIdentity } from './unlink.ts'
