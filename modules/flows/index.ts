/** Browser flows: PKCE by email link, external sign-in, and the final redirect. */

export { startAuthorization } from './authorize.ts'
export {
  type AuthorizationState,
  clearedStateCookie,
  consumeState,
  createStateValue,
  findStateTarget,
  isSameBrowser,
  issueOauthCode,
  loadAuthorizationState,
  readBrowserHash,
  stateCookie,
} from './oauth-state.ts'
export {
  decryptProviderTokens,
  findIssuedSession,
  getFlowMethod,
  issuePkceCode,
  isVerifierValid,
  readLinkContext,
  readPkce,
  rememberConsumedCode,
  startPkceFlow,
} from './pkce.ts'
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
