/** The OAuth 2.1 and OpenID Connect provider, for sign-in at other applications. */
export { authenticateClient } from './clients/authenticate.ts'
export { auditedClient, type Client, showClient, toClient } from './clients/client.ts'
export { findClient, findClientRowId, findKnownClient } from './clients/find.ts'
export { requireIdTokenAlgorithm } from './clients/id-token-algorithm.ts'
export {
  changeClient,
  createClient,
  deleteClient,
  endClientSessions,
  getClient,
  lockAndGetClient,
  readClientId,
  regenerateSecret,
} from './clients/manage.ts'
export {
  authenticateRegistration,
  registerClient,
  replaceRegistration,
  requireRegistration,
  showRegistration,
} from './clients/registration.ts'
export {
  createDeviceCode,
  decideDevice,
  deviceSeconds,
  exchangeDeviceCode,
  type OpenDevice,
  openDevice,
  pollSeconds,
} from './devices.ts'
export { listGrants, revokeGrant, revokeGrantByAdmin } from './grants.ts'
export { serverMetadata } from './metadata.ts'
export {
  type Answering,
  approve,
  deny,
  findIssuedCode,
  isConsented,
  issueCode,
  lockAnswering,
  type OpenRequest,
  openRequest,
  requestedScopes,
} from './requests/answer.ts'
export {
  type CreatedRequest,
  createAuthorizationRequest,
  pushedRequestSeconds,
  pushRequest,
} from './requests/create.ts'
export { findMissing } from './requests/demands.ts'
export { findFormResponse } from './requests/redirect.ts'
export { type SentParameters, sentValue } from './requests/sent.ts'
export { readIdTokenSubject, respondSilently, toStoredAuthentication } from './requests/silent.ts'
export { scopeList } from './scopes.ts'
export { findDataSite } from './tokens/audience.ts'
export { userinfoClaims } from './tokens/claims.ts'
export { exchangeCode } from './tokens/exchange-code.ts'
export type { Origin, TokenResponse } from './tokens/issue.ts'
export { findVerifiedContacts } from './tokens/issue.ts'
export { introspectToken, refreshClient, revokeToken } from './tokens/refresh.ts'
