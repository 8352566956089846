import { baseUrl } from '../base-url.ts'
import { email, person } from '../identity.ts'
import { at, text, truth, unlessDenied } from '../json.ts'
import { oauth2Provider } from '../oauth2.ts'
import type { Vendor } from '../provider.ts'

const standard = 'https://kauth.kakao.com'

export const kakao: Vendor = {
  name: 'Kakao',
  docs: {
    title: 'Kakao',
    register: 'https://developers.kakao.com/console/app',
    steps: [
      'Activate Kakao Login and add the redirect URI; the client id is the REST API key.',
      'Under "Security" make a client secret and activate it.',
      'Under "Consent items" ask for nickname, picture and account e-mail.',
    ],
    scopes: 'account_email profile_image profile_nickname',
    url: 'replaces kauth.kakao.com and kapi.kakao.com',
    notes: ['`account_email` needs a verified business; else set EMAIL_OPTIONAL.'],
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
        const account = at(user, 'kakao_account')
        const id = text(at(user, 'id'))
        const name = text(at(account, 'profile', 'nickname'))
        const avatar_url = text(at(account, 'profile', 'profile_image_url'))
        const names = { preferred_username: name, user_name: name }
        const verified =
          truth(at(account, 'is_email_valid')) && truth(at(account, 'is_email_verified'))
        return {
          sub: id,
          claims: { ...person(id, name), ...names, avatar_url, iss: api },
          emails: email(text(at(account, 'email')), { verified }),
        }
      },
    })
  },

  idToken: {
    accepts: (issuer, settings) => issuer === baseUrl(settings, standard),
    nonce: true,
    profile({ sub = '', iss, nickname, picture, ...claims }) {
      const names = { name: nickname, preferred_username: nickname }
      return {
        sub,
        claims: { iss, sub, provider_id: sub, ...names, picture },
        emails: email(text(claims.email), { verified: unlessDenied(claims.email_verified) }),
      }
    },
  },
}
