/** Browser flows: PKCE by email link, external sign-in, and the final redirect. */

export { startAuthorization } from './authorize.ts'
export { findIssuedSession, rememberConsumedCode } from './consumed-codes.ts'
export { readLinkContext } from './link-context.ts'
export {
  type AuthorizationState,
  consumeState,
  findStateTarget,
  issueOauthCode,
  loadAuthorizationState,
} from './oauth-state.ts'
export { readPkce } from './pkce.ts'
export {
  decryptProviderTokens,
  getFlowMethod,
  issuePkceCode,
  isVerifierValid,
  startPkceFlow,
} from './pkce-flows.ts'
export { hasActiveScheme, isAllowedRedirect } from './redirects/allowed.ts'
export {
  hasHostedPages,
  redirectWithCode,
  redirectWithError,
  redirectWithMessage,
  redirectWithOauthError,
  redirectWithSession,
  resolveTarget,
  withFragment,
} from './redirects/index.ts'
export {
  clearedStateCookie,
  createStateValue,
  isSameBrowser,
  readBrowserHash,
  stateCookie,
} from './state-cookie.ts'
