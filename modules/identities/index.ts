/** Identities at providers: sign-in, linking and unlinking. */

export { readAssertedAddress } from './emails.ts'
export {
  completeExternalSignIn,
  createExternalSession,
  permitExternalUser,
  requireProviderEmail,
} from './oauth-sign-in.ts'
export type { AcceptedSignIn, ExternalUser } from './types.ts'
export { unlinkIdentity } from './unlink.ts'
