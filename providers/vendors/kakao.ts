import { isSameUri } from '../../schemas/values/uris.ts'
import { email, toProfileNames } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import { baseUrl } from '../http/base-url.ts'
import { asBoolean, asText, getPath } from '../http/json.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'

const standard = 'https://kauth.kakao.com'

export const kakao: NamedProviderDefinition = {
  name: 'Kakao',
  docs: {
    title: 'Kakao',
    register: 'https://developers.kakao.com/console/app',
    steps: [
      'Activate Kakao Login and add the redirect URI; the client id is the REST API key.',
      'Under "Security" create a client secret and activate it.',
      'Under "Consent items" request nickname, picture and account email.',
    ],
    scopes: 'account_email profile_image profile_nickname',
    url: 'replaces kauth.kakao.com and kapi.kakao.com',
    notes: ['`account_email` requires a verified business; otherwise set EMAIL_OPTIONAL.'],
  },

  create(settings, upstream) {
    const web = baseUrl(settings, standard)
    const api = baseUrl(settings, 'https://kapi.kakao.com')
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({ authorize: `${web}/oauth/authorize`, token: `${web}/oauth/token` }),
      scopes: ['account_email', 'profile_image', 'profile_nickname'],
      clientAuth: ['body'],
      async profile({ get }) {
        const user = await get(`${api}/v2/user/me`)
        const account = getPath(user, 'kakao_account')
        const id = asText(getPath(user, 'id'))
        const name = asText(getPath(account, 'profile', 'nickname'))
        const avatar_url = asText(getPath(account, 'profile', 'profile_image_url'))
        const names = { preferred_username: name, user_name: name }
        const verified =
          asBoolean(getPath(account, 'is_email_valid')) &&
          asBoolean(getPath(account, 'is_email_verified'))
        return {
          sub: id,
          claims: { ...toProfileNames(id, name), ...names, avatar_url, iss: api },
          emails: email(asText(getPath(account, 'email')), { verified }),
        }
      },
    })
  },

  idToken: {
    accepts: (issuer, settings) => isSameUri(issuer, baseUrl(settings, standard)),
    nonce: true,
    profile({ sub = '', iss, nickname, picture, ...claims }) {
      const names = { name: nickname, preferred_username: nickname }
      return {
        sub,
        claims: { iss, sub, provider_id: sub, ...names, picture },
        emails: email(asText(claims.email), { verified: asBoolean(claims.email_verified) }),
      }
    },
  },
}
