/** Passkeys (WebAuthn Level 3): sign-in without password and user name. Security key factors share the ceremonies. */
export {
  consumePasskeyAuthentication,
  consumePasskeyRegistration,
  createPasskeyAuthentication,
  createPasskeyRegistration,
} from './challenges.ts'
export { requirePasskeysEnabled } from './enabled.ts'
export { changePasskeyName, removePasskey } from './manage.ts'
export { checkCanAddPasskey, registerPasskey } from './register.ts'
export { completePasskeySignIn, verifyPasskeyResponse } from './sign-in.ts'
