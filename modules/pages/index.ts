/** Functions shared by the hosted pages. */
export {
  type ApiCall,
  type ApiResponse,
  callApi,
  errorText,
  errorTextName,
  jsonIn,
  textIn,
  toAnswering,
} from './api.ts'
export { parseIdentifier } from './identifier.ts'
export {
  getHost,
  getNextUrl,
  sendFormResponse,
  sendMessage,
  sendOnward,
  sendToNext,
  sendUnknownRequest,
  wayTo,
  wayToSignIn,
} from './messages.ts'
export { listPolicyLinks, permissionLines } from './permissions.ts'
export {
  findReason,
  type Reason,
  readNext,
  readReason,
  redirectToProof,
  redirectToRetry,
  redirectToSignIn,
} from './redirects.ts'
export {
  captchaToken,
  type Exchange,
  getShownCaptcha,
  sendPage,
  sendPageFromSet,
} from './send.ts'
