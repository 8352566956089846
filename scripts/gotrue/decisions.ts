/**
 * What GoTrue has and this server does not, each with the reason. Variables without effect are in
 * config/notices.ts, which the start reads too.
 */
export const decided: Readonly<Record<'routes' | 'codes' | 'variables', Record<string, string>>> = {
  routes: {},
  codes: {
    oauth_client_state_expired:
      'the code verifier and the state are stored together: the state expires, with bad_oauth_state',
  },
  variables: {
    RP_ID: 'a by-product of the tag of AUTH_WEBAUTHN_RP_ID, which GoTrue’s documentation lacks',
    SECRETS: 'a by-product of the tag of AUTH_HOOK_…_SECRETS, common to all hooks',
  },
}
