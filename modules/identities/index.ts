/** Identities at providers: sign-in, linking and unlinking. */
export {
  completeExternalSignIn,
  permitExternalUser,
  requireProviderEmail,
} from './oauth-sign-in.ts'
export type { ExternalUser, SignInOutcome } from './types.ts'
export { unlinkIdentity } from './unlink.ts'
