/** SAML 2.0 service provider: single sign-on through identity providers of organizations. */
export { acceptLogout } from './accept-logout.ts'
export { acceptResponse } from './acs.ts'
export { endLoginsOfUser, startLogout } from './begin-logout.ts'
export {
  changeSamlProvider,
  createSamlProvider,
  prepareProvider,
  removeSamlProvider,
} from './manage.ts'
export { getSamlMetadata, isMetadataExpired, refreshStaleMetadata } from './metadata.ts'
export { consumeSignOn, isBrowserBound, otherBrowser, redirectTarget } from './relay.ts'
export { postPage } from './send.ts'
export { hasNextKey, metadataFor } from './service-provider.ts'
export { findOpenRequest, sendOpenRequest, startSignOn } from './sign-on.ts'
