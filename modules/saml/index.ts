/** SAML 2.0 service provider: single sign-on through identity providers of organizations. */
export { acceptLogout } from './accept-logout.ts'
export { acceptResponse } from './acs.ts'
export { startLogout } from './begin-logout.ts'
export { endLoginsOfUser } from './end-logins.ts'
export {
  changeSamlProvider,
  createSamlProvider,
  prepareProvider,
  removeSamlProvider,
} from './manage.ts'
export { getSamlMetadata, isMetadataExpired, refreshStaleMetadata } from './metadata.ts'
export { findOpenRequest, sendOpenRequest } from './posted-request.ts'
export { consumeSignOn, isBrowserBound, otherBrowser } from './relay.ts'
export { postPage } from './send.ts'
export { hasNextKey, metadataFor } from './service-provider.ts'
export { startSignOn } from './sign-on.ts'
export { redirectTarget } from './target.ts'
