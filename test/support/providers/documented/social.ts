/** Providers for personal accounts. */
import { type Case, email, known, name, picture } from './ann.ts'

const snapScope = 'https://auth.snapchat.com/oauth2/api/'

export const social: Record<string, Case> = {
  discord: {
    documented: {
      authorize: '/api/oauth2/authorize',
      scope: 'email identify',
      token: '/api/oauth2/token',
      clientAuth: 'basic',
      api: {
        '/api/users/@me': {
          body: {
            id: '77',
            username: 'ann',
            discriminator: '0',
            global_name: 'Ann',
            avatar: 'ab1',
            email,
            verified: true,
          },
        },
      },
    },
    claims: (origin) => ({
      ...known('77', 'ann#0', 'https://cdn.discordapp.com/avatars/77/ab1.png'),
      full_name: 'ann',
      iss: `${origin}/api`,
      custom_claims: { global_name: 'Ann' },
    }),
  },
  facebook: {
    documented: {
      authorize: '/dialog/oauth',
      scope: 'email',
      token: '/oauth/access_token',
      clientAuth: 'body',
      api: {
        '/me?fields=email,first_name,last_name,name,picture&appsecret_proof={appsecret_proof}': {
          body: {
            id: '5',
            name,
            first_name: 'Ann',
            last_name: 'Lee',
            email,
            picture: { data: { url: picture } },
          },
        },
      },
    },
    claims: (origin) => ({
      ...known('5'),
      nickname: name,
      slug: name,
      iss: `${origin}/me?fields=email,first_name,last_name,name,picture`,
    }),
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
              email,
              is_email_valid: true,
              is_email_verified: true,
            },
          },
        },
      },
    },
    claims: (origin) => ({
      ...known('42', 'Ann', ''),
      preferred_username: 'Ann',
      user_name: 'Ann',
      avatar_url: picture,
      iss: origin,
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
      ...known('s1', 'Ann'),
      slug: 'Ann',
      iss: `${origin}/accounts/oauth2/token`,
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
            id: 's1',
            display_name: 'Ann',
            email,
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
          headers: { 'client-id': '{client_id}' },
          body: {
            data: [
              {
                id: '9',
                login: 'ann',
                display_name: 'Ann',
                type: '',
                broadcaster_type: '',
                description: '',
                profile_image_url: picture,
                offline_image_url: '',
                view_count: 0,
                email,
              },
            ],
          },
        },
      },
    },
    claims: (origin) => ({
      ...known('9', 'ann'),
      nickname: 'Ann',
      slug: 'Ann',
      iss: origin,
      custom_claims: {
        broadcaster_type: '',
        description: '',
        type: '',
        offline_image_url: '',
        view_count: 0,
      },
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
                id: '9',
                name,
                username: 'ann',
                confirmed_email: email,
                profile_image_url: picture,
                url: 'https://ann.test',
                created_at: '2020-02-02T00:00:00.000Z',
              },
            },
          },
      },
    },
    claims: (origin) => ({
      ...known('9'),
      preferred_username: 'ann',
      user_name: 'ann',
      iss: origin,
      profile: 'https://x.com/ann',
      website: 'https://ann.test',
      custom_claims: { created_at: '2020-02-02T00:00:00.000Z' },
    }),
  },
}
