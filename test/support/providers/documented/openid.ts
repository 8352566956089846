/** Providers that send id_tokens or implement OpenID Connect. */
import { type Case, email, known, name, picture, slackUser, verified } from './ann.ts'

export const openid: Record<string, Case> = {
  apple: {
    documented: {
      authorize: '/auth/authorize',
      scope: 'email name',
      params: { response_mode: 'form_post' },
      nonce: true,
      token: '/auth/token',
      clientAuth: 'body',
      idToken: {
        issuer: '',
        claims: {
          sub: 'ap.1',
          email,
          email_verified: 'true',
          is_private_email: 'false',
          auth_time: 1_700_000_000,
        },
      },
      api: {},
      posted: JSON.stringify({
        name: { firstName: 'Ann', lastName: 'Lee' },
        email: 'evil@ex.test',
      }),
    },
    claims: (origin) => ({
      ...known('ap.1', name, ''),
      iss: origin,
      custom_claims: { is_private_email: false, auth_time: 1_700_000_000 },
    }),
  },
  azure: {
    documented: {
      authorize: '/oauth2/v2.0/authorize',
      scope: 'openid email profile',
      pkce: true,
      nonce: true,
      token: '/oauth2/v2.0/token',
      clientAuth: 'body',
      idToken: {
        issuer: '/v2.0',
        claims: { sub: 'az1', name, email, preferred_username: email, oid: 'o1', xms_edov: '1' },
      },
      api: {},
    },
    // Hosts other than Microsoft’s follow the standard only.
    claims: (origin) => ({
      iss: `${origin}/v2.0`,
      sub: 'az1',
      name,
      preferred_username: email,
      ...verified,
    }),
  },
  google: {
    documented: {
      authorize: '/o/oauth2/v2/auth',
      scope: 'openid email profile',
      pkce: true,
      nonce: true,
      token: '/token',
      clientAuth: 'body',
      idToken: {
        issuer: '',
        claims: { sub: '11', email, email_verified: 'true', name, picture, hd: 'ex.test' },
      },
      api: {},
    },
    claims: (origin) => ({ ...known('11'), iss: origin, custom_claims: { hd: 'ex.test' } }),
  },
  'google without id_token': {
    documented: {
      authorize: '/o/oauth2/v2/auth',
      scope: 'openid email profile',
      pkce: true,
      nonce: true,
      token: '/token',
      clientAuth: 'body',
      idToken: { issuer: '' },
      api: {
        '/userinfo/v2/me': { body: { id: '11', email, verified_email: true, name, picture } },
      },
    },
    claims: (origin) => ({ ...known('11'), iss: `${origin}/userinfo/v2/me` }),
  },
  keycloak: {
    documented: {
      authorize: '/protocol/openid-connect/auth',
      scope: 'openid profile email',
      pkce: true,
      token: '/protocol/openid-connect/token',
      clientAuth: 'basic',
      api: {
        '/protocol/openid-connect/userinfo': {
          body: { sub: 'k1', name, email, email_verified: true, preferred_username: 'ann' },
        },
      },
    },
    claims: (origin) => ({
      ...known('k1', name, ''),
      iss: origin,
      custom_claims: { preferred_username: 'ann' },
    }),
  },
  linkedin_oidc: {
    documented: {
      authorize: '/v2/authorization',
      scope: 'openid email profile',
      token: '/v2/accessToken',
      clientAuth: 'body',
      idToken: {
        issuer: '',
        claims: {
          sub: 'l2',
          email,
          email_verified: 'true',
          given_name: 'Ann',
          family_name: 'Lee',
          locale: 'en_US',
          picture,
        },
      },
      api: {},
    },
    claims: (origin) => ({
      sub: 'l2',
      provider_id: 'l2',
      name,
      given_name: 'Ann',
      family_name: 'Lee',
      locale: 'en_US',
      picture,
      iss: origin,
      ...verified,
    }),
  },
  slack_oidc: {
    documented: {
      authorize: '/openid/connect/authorize',
      scope: 'profile email openid',
      nonce: true,
      token: '/api/openid.connect.token',
      clientAuth: 'body',
      tokenReply: { ok: true },
      idToken: { issuer: '', claims: { sub: 'U1' } },
      api: { '/api/openid.connect.userInfo': { body: slackUser } },
    },
    claims: (origin) => ({
      ...known('U1'),
      iss: `${origin}/api`,
      custom_claims: { 'https://slack.com/team_id': 'T1' },
    }),
  },
  vercel_marketplace: {
    documented: {
      authorize: '/oauth/v2/authorization',
      scope: '',
      token: '/oauth/v2/accessToken',
      clientAuth: 'body',
      idToken: {
        issuer: '',
        claims: {
          sub: 'account:1:user:2',
          global_user_id: 'g1',
          user_email: email,
          user_name: name,
          user_avatar_url: picture,
        },
      },
      api: {},
    },
    claims: (origin) => ({
      sub: 'global_user_id:g1',
      provider_id: 'global_user_id:g1',
      name,
      picture,
      iss: origin,
      ...verified,
    }),
  },
}
