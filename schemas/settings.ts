import { type Static, Type } from '@sinclair/typebox'

/** What a sign-in form needs to know before anybody is signed in. */
export const Settings = Type.Object(
  {
    external: Type.Record(Type.String(), Type.Boolean(), {
      description: 'Ways to sign in, by name, and whether they are switched on',
    }),
    disable_signup: Type.Boolean(),
    autoconfirm: Type.Boolean(),
    mailer_autoconfirm: Type.Boolean(),
    phone_autoconfirm: Type.Boolean(),
    sms_provider: Type.String(),
    mfa_enabled: Type.Boolean(),
    saml_enabled: Type.Boolean(),
    passkeys_enabled: Type.Boolean(),
  },
  { title: 'Settings' },
)
export type Settings = Static<typeof Settings>
