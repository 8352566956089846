/** Passkeys (WebAuthn Level 3): sign-in without password and user name. Security key factors share the ceremonies. */

export { changePasskeyName, removePasskey, requirePasskeysEnabled } from './manage.ts'
export { checkCanAddPasskey, registerPasskey } from './register.ts'
export {
  completePasskeySignIn,
  consumePasskeyAuthentication,
  consumePasskeyRegistration,
  createPasskeyAuthentication,
  createPasskeyRegistration,
  verifyPasskeyResponse,
} from './sign-in.ts'
