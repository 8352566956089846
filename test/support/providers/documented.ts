/** What each provider documents, and what we make of its answers. */
import { createHmac } from 'node:crypto'

import { client, type Documented } from './fake-provider.ts'

export interface Case {
  documented: Documented
  /** Every claim of the identity, given the origin of the fake. */
  claims(origin: string): Record<string, unknown>
  /** Where the address is not the only one. */
  emails?: object[]
}

const email = 'ann@ex.test'
const name = 'Ann Lee'
const picture = 'https://i.test/p'
const proven = { email, email_verified: true, phone_verified: false }

/** The claims of somebody named and pictured under all the usual names. */
function known(id: string, named = name, pictured = picture) {
  return {
    ...{ sub: id, provider_id: id, name: named, full_name: named },
    ...(pictured && { picture: pictured, avatar_url: pictured }),
    ...proven,
  }
}

const proof = createHmac('sha256', client.secret).update('at1').digest('hex')
const snapScope = 'https://auth.snapchat.com/oauth2/api/'
const slackUser = {
  ok: true,
  'https://slack.com/user_id': 'U1',
  'https://slack.com/team_id': 'T1',
  ...{ email, email_verified: true, name, picture },
}

export const cases: Record<string, Case> = {
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
          ...{ sub: 'ap.1', email, email_verified: 'true' },
          ...{ is_private_email: 'false', auth_time: 1_700_000_000 },
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
    // A host that is not Microsoft's is read by the standard alone.
    claims: (origin) => ({
      ...{ iss: `${origin}/v2.0`, sub: 'az1', name, preferred_username: email },
      ...proven,
    }),
  },
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
  discord: {
    documented: {
      authorize: '/api/oauth2/authorize',
      scope: 'email identify',
      token: '/api/oauth2/token',
      clientAuth: 'basic',
      api: {
        '/api/users/@me': {
          body: {
            ...{ id: '77', username: 'ann', discriminator: '0', global_name: 'Ann' },
            ...{ avatar: 'ab1', email, verified: true },
          },
        },
      },
    },
    claims: (origin) => ({
      ...known('77', 'ann#0', 'https://cdn.discordapp.com/avatars/77/ab1.png'),
      ...{ full_name: 'ann', iss: `${origin}/api`, custom_claims: { global_name: 'Ann' } },
    }),
  },
  facebook: {
    documented: {
      authorize: '/dialog/oauth',
      scope: 'email',
      token: '/oauth/access_token',
      clientAuth: 'body',
      api: {
        [`/me?fields=email,first_name,last_name,name,picture&appsecret_proof=${proof}`]: {
          body: {
            ...{ id: '5', name, first_name: 'Ann', last_name: 'Lee', email },
            picture: { data: { url: picture } },
          },
        },
      },
    },
    claims: (origin) => ({
      ...{ ...known('5'), nickname: name, slug: name },
      iss: `${origin}/me?fields=email,first_name,last_name,name,picture`,
    }),
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
            ...{ resource_owner_id: 'r1', user_id: 'u1', user_name: 'ann', email },
            ...{ organizations: [{ id: 'g1', role: 'member' }], scope: ['read'] },
            ...{ application: { uid: 'a1' }, created_at: 1_700_000_000 },
          },
        },
      },
    },
    claims: (origin) => ({
      ...{ sub: 'u1', provider_id: 'u1', full_name: 'ann', iss: origin, ...proven },
      custom_claims: {
        ...{ resource_owner_id: 'r1', organizations: [{ id: 'g1', role: 'member' }] },
        ...{ application: { uid: 'a1' }, scope: ['read'], created_at: 1_700_000_000 },
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
      ...{ preferred_username: 'ann', user_name: 'ann', avatar_url: picture },
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
  kakao: {
    documented: {
      authorize: '/oauth/authorize',
      scope: 'account_email profile_image profile_nickname',
      token: '/oauth/token',
      clientAuth: 'body',
      api: {
        '/v2/user/me': {
          body: {
            id: 42,
            kakao_account: {
              profile: { nickname: 'Ann', profile_image_url: picture },
              ...{ email, is_email_valid: true, is_email_verified: true },
            },
          },
        },
      },
    },
    claims: (origin) => ({
      ...known('42', 'Ann', ''),
      ...{ preferred_username: 'Ann', user_name: 'Ann', avatar_url: picture, iss: origin },
    }),
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
      ...{ iss: origin, custom_claims: { preferred_username: 'ann' } },
    }),
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
  linkedin_oidc: {
    documented: {
      authorize: '/v2/authorization',
      scope: 'openid email profile',
      token: '/v2/accessToken',
      clientAuth: 'body',
      idToken: {
        issuer: '',
        claims: {
          ...{ sub: 'l2', email, email_verified: 'true', given_name: 'Ann', family_name: 'Lee' },
          ...{ locale: 'en_US', picture },
        },
      },
      api: {},
    },
    claims: (origin) => ({
      ...{ sub: 'l2', provider_id: 'l2', name, given_name: 'Ann', family_name: 'Lee' },
      ...{ locale: 'en_US', picture, iss: origin, ...proven },
    }),
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
      api: { '/api/openid.connect.userInfo': { body: { ...slackUser, email_verified: false } } },
    },
    claims: (origin) => ({
      ...{ ...known('U1'), iss: `${origin}/api` },
      custom_claims: { 'https://slack.com/team_id': 'T1' },
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
      ...{ ...known('U1'), iss: `${origin}/api` },
      custom_claims: { 'https://slack.com/team_id': 'T1' },
    }),
  },
  snapchat: {
    documented: {
      authorize: '/accounts/oauth2/auth',
      scope: `${snapScope}user.external_id ${snapScope}user.display_name ${snapScope}user.bitmoji.avatar`,
      token: '/accounts/oauth2/token',
      clientAuth: 'body',
      api: {
        '/v1/me?query={me { externalId displayName bitmoji { avatar id } email }}': {
          body: {
            data: {
              me: { externalId: 's1', displayName: 'Ann', bitmoji: { avatar: picture }, email },
            },
          },
        },
      },
    },
    claims: (origin) => ({
      ...{ ...known('s1', 'Ann'), slug: 'Ann', iss: `${origin}/accounts/oauth2/token` },
    }),
  },
  spotify: {
    documented: {
      authorize: '/authorize',
      scope: 'user-read-email',
      pkce: true,
      token: '/api/token',
      clientAuth: 'basic',
      api: {
        '/me': {
          body: {
            ...{ id: 's1', display_name: 'Ann', email },
            images: [
              { url: 'https://i.test/small', height: 64, width: 64 },
              { url: picture, height: 300, width: 300 },
            ],
          },
        },
      },
    },
    claims: (origin) => ({ ...known('s1', 'Ann'), email_verified: false, iss: origin }),
    emails: [{ email, primary: true, verified: false }],
  },
  twitch: {
    documented: {
      authorize: '/oauth2/authorize',
      scope: 'user:read:email',
      token: '/oauth2/token',
      clientAuth: 'body',
      tokenReply: { scope: ['user:read:email'] },
      api: {
        '/helix/users': {
          headers: { 'client-id': client.id },
          body: {
            data: [
              {
                ...{ id: '9', login: 'ann', display_name: 'Ann', type: '', broadcaster_type: '' },
                ...{ description: '', profile_image_url: picture, offline_image_url: '' },
                ...{ view_count: 0, email },
              },
            ],
          },
        },
      },
    },
    claims: (origin) => ({
      ...{ ...known('9', 'ann'), nickname: 'Ann', slug: 'Ann', iss: origin },
      custom_claims: {
        ...{ broadcaster_type: '', description: '', type: '', offline_image_url: '' },
        view_count: 0,
      },
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
          ...{ sub: 'account:1:user:2', global_user_id: 'g1', user_email: email },
          ...{ user_name: name, user_avatar_url: picture },
        },
      },
      api: {},
    },
    claims: (origin) => ({
      ...{ sub: 'global_user_id:g1', provider_id: 'global_user_id:g1', name, picture },
      ...{ iss: origin, ...proven },
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
          ...{ id: 'p1', first_name: 'Ann', last_name: 'Lee', email },
          ...{ connection_id: 'c1', organization_id: 'o1' },
        },
      },
      api: {},
    },
    claims: (origin) => ({
      ...{ ...known('p1', name, ''), iss: origin },
      custom_claims: { connection_id: 'c1', organization_id: 'o1' },
    }),
  },
  x: {
    documented: {
      authorize: '/i/oauth2/authorize',
      scope: 'users.email tweet.read users.read offline.access',
      pkce: true,
      token: '/2/oauth2/token',
      clientAuth: 'basic',
      api: {
        '/2/users/me?user.fields=id,name,username,confirmed_email,profile_image_url,url,created_at':
          {
            body: {
              data: {
                ...{ id: '9', name, username: 'ann', confirmed_email: email },
                ...{ profile_image_url: picture, url: 'https://ann.test' },
                created_at: '2020-02-02T00:00:00.000Z',
              },
            },
          },
      },
    },
    claims: (origin) => ({
      ...{ ...known('9'), preferred_username: 'ann', user_name: 'ann', iss: origin },
      ...{ profile: 'https://x.com/ann', website: 'https://ann.test' },
      custom_claims: { created_at: '2020-02-02T00:00:00.000Z' },
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
            ...{ id: 'z1', first_name: 'Ann', last_name: 'Lee', email, verified: 1 },
            ...{ login_type: '100', pic_url: picture },
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
