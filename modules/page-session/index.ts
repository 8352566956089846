/**
 * The session of the hosted pages: an opaque cookie with a row that refers to an ordinary session of the user, listed
 * and revoked with the others.
 */
export { answerOnce } from './answer-once.ts'
export { browserId, checkForm, clearedCookie, ensureCookie, formToken } from './cookie.ts'
export {
  changeFlow,
  isOpenedWhereRequested,
  isPagesCallback,
  linkFlow,
  pagesTargetIn,
  returnCookie,
  verifierFor,
} from './link-flow.ts'
export {
  accessTokenFor,
  endPageSession,
  factorPage,
  findMissingProof,
  findRequiredFactor,
  findSignedIn,
  type MissingProof,
  requiresFactor,
  type SignedIn,
  startPageSession,
} from './session.ts'
