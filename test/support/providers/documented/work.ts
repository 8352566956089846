/** Providers for work accounts. */
import { type Case, email, known, name, picture, slackUser, verified } from './ann.ts'

export const work: Record<string, Case> = {
  bitbucket: {
    documented: {
      authorize: '/site/oauth2/authorize',
      scope: 'account email',
      token: '/site/oauth2/access_token',
      clientAuth: 'basic',
      api: {
        '/2.0/user': { body: { uuid: '{b1}', display_name: name, avatar: { href: picture } } },
        '/2.0/user/emails': {
          body: { values: [{ email, is_primary: true, is_confirmed: true }] },
        },
      },
    },
    claims: (origin) => ({ ...known('{b1}'), iss: `${origin}/2.0` }),
  },
  figma: {
    documented: {
      authorize: '/oauth',
      scope: 'current_user:read',
      token: '/v1/oauth/token',
      clientAuth: 'basic',
      api: { '/v1/me': { body: { id: 'f1', email, handle: 'Ann', img_url: picture } } },
    },
    claims: (origin) => ({ ...known('f1', 'Ann', ''), avatar_url: picture, iss: origin }),
  },
  fly: {
    documented: {
      authorize: '/oauth/authorize',
      scope: 'read',
      token: '/oauth/token',
      clientAuth: 'body',
      api: {
        '/oauth/token/info': {
          body: {
            resource_owner_id: 'r1',
            user_id: 'u1',
            user_name: 'ann',
            email,
            organizations: [{ id: 'g1', role: 'member' }],
            scope: ['read'],
            application: { uid: 'a1' },
            created_at: 1_700_000_000,
          },
        },
      },
    },
    claims: (origin) => ({
      sub: 'u1',
      provider_id: 'u1',
      full_name: 'ann',
      iss: origin,
      ...verified,
      custom_claims: {
        resource_owner_id: 'r1',
        organizations: [{ id: 'g1', role: 'member' }],
        application: { uid: 'a1' },
        scope: ['read'],
        created_at: 1_700_000_000,
      },
    }),
  },
  github: {
    documented: {
      authorize: '/login/oauth/authorize',
      scope: 'user:email',
      pkce: true,
      token: '/login/oauth/access_token',
      clientAuth: 'body',
      form: true,
      api: {
        '/api/v3/user': { body: { id: 42, login: 'ann', name, avatar_url: picture, email: null } },
        '/api/v3/user/emails': {
          body: [
            { email: 'old@ex.test', primary: false, verified: true },
            { email: 'Ann@Ex.test', primary: true, verified: true },
            { email: 'new@ex.test', primary: false, verified: false },
          ],
        },
      },
    },
    claims: (origin) => ({
      ...known('42', name, ''),
      preferred_username: 'ann',
      user_name: 'ann',
      avatar_url: picture,
      iss: `${origin}/api/v3`,
    }),
    emails: [
      { email: 'old@ex.test', primary: false, verified: true },
      { email, primary: true, verified: true },
      { email: 'new@ex.test', primary: false, verified: false },
    ],
  },
  gitlab: {
    documented: {
      authorize: '/oauth/authorize',
      scope: 'read_user',
      pkce: true,
      token: '/oauth/token',
      clientAuth: 'body',
      api: {
        '/api/v4/user': {
          body: { id: 42, email, name, avatar_url: picture, confirmed_at: '2020-02-02T00:00:00Z' },
        },
        '/api/v4/user/emails': { body: [{ id: 1, email: 'ann2@ex.test' }] },
      },
    },
    claims: (origin) => ({ ...known('42'), iss: origin }),
    emails: [
      { email, primary: true, verified: true },
      { email: 'ann2@ex.test', primary: false, verified: false },
    ],
  },
  linkedin: {
    documented: {
      authorize: '/oauth/v2/authorization',
      scope: 'r_emailaddress r_liteprofile',
      token: '/oauth/v2/accessToken',
      clientAuth: 'body',
      api: {
        '/v2/me?projection=(id,firstName,lastName,profilePicture(displayImage~:playableStreams))': {
          body: {
            id: 'l1',
            firstName: localized('Ann'),
            lastName: localized('Lee'),
            profilePicture: {
              'displayImage~': { elements: [{ identifiers: [{ identifier: picture }] }] },
            },
          },
        },
        '/v2/emailAddress?q=members&projection=(elements*(handle~))': {
          body: { elements: [{ handle: 'h', 'handle~': { emailAddress: email } }] },
        },
      },
    },
    claims: (origin) => ({ ...known('l1'), iss: origin }),
  },
  notion: {
    documented: {
      authorize: '/v1/oauth/authorize',
      scope: '',
      token: '/v1/oauth/token',
      clientAuth: 'basic',
      api: {
        '/v1/users/me': {
          headers: { 'notion-version': '2021-08-16' },
          body: {
            bot: { owner: { user: { id: 'n1', name, avatar_url: picture, person: { email } } } },
          },
        },
      },
    },
    claims: (origin) => ({ ...known('n1'), iss: origin }),
  },
  slack: {
    documented: {
      authorize: '/oauth/authorize',
      scope: 'profile email openid',
      token: '/api/oauth.access',
      clientAuth: 'basic',
      tokenReply: { ok: true },
      api: {
        '/api/openid.connect.userInfo': { body: slackUser },
      },
    },
    claims: (origin) => ({
      ...known('U1'),
      iss: `${origin}/api`,
      custom_claims: { 'https://slack.com/team_id': 'T1' },
    }),
  },
  workos: {
    documented: {
      authorize: '/sso/authorize',
      scope: '',
      token: '/sso/token',
      clientAuth: 'body',
      tokenReply: {
        profile: {
          id: 'p1',
          first_name: 'Ann',
          last_name: 'Lee',
          email,
          connection_id: 'c1',
          organization_id: 'o1',
        },
      },
      api: {},
    },
    claims: (origin) => ({
      ...known('p1', name, ''),
      iss: origin,
      custom_claims: { connection_id: 'c1', organization_id: 'o1' },
    }),
  },
  zoom: {
    documented: {
      authorize: '/oauth/authorize',
      scope: '',
      pkce: true,
      token: '/oauth/token',
      clientAuth: 'basic',
      api: {
        '/v2/users/me': {
          body: {
            id: 'z1',
            first_name: 'Ann',
            last_name: 'Lee',
            email,
            verified: 1,
            login_type: '100',
            pic_url: picture,
          },
        },
      },
    },
    claims: (origin) => ({ ...known('z1'), iss: `${origin}/v2` }),
  },
}

function localized(value: string) {
  return { localized: { en_US: value }, preferredLocale: { language: 'en', country: 'US' } }
}
