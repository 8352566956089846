/** Functions shared by the hosted pages. */
export { type ApiCall, type ApiResponse, callApi, jsonIn, textIn } from './api.ts'
export { captchaToken, getShownCaptcha } from './captcha.ts'
export { errorText, errorTextName } from './errors.ts'
export { parseIdentifier } from './identifier.ts'
export { changeFlow, linkFlow, verifierFor } from './link-flow.ts'
export { readNext } from './next.ts'
export { listPolicyLinks, permissionLines } from './permissions.ts'
export {
  type Exchange,
  ensureCookie,
  getHost,
  type PageDeps,
  sendOnward,
  sendPage,
  sendPageFromSet,
  sendToNext,
} from './send.ts'
