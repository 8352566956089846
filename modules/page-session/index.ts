/**
 * The session of the hosted pages: an opaque cookie with a row that refers to an ordinary session of the user, listed
 * and revoked with the others.
 */
export { browserId, clearedCookie, cookieHeader, makeBrowserId } from './cookie.ts'
export { checkForm, formToken } from './forgery.ts'
export {
  accessTokenFor,
  endPageSession,
  factorPage,
  findRequiredFactor,
  findSignedIn,
  requiresFactor,
  type SignedIn,
  startPageSession,
} from './session.ts'
