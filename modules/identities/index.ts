/** Identities at providers: sign-in, linking and unlinking. */
export {
  completeExternalSignIn,
  permitExternalUser,
  requireProviderEmail,
} from './oauth-sign-in.ts'
export { unlinkIdentity } from './unlink.ts'
