import type { Scenario } from './core/scenario.ts'
import { adminGet } from './scenarios/admin-get.ts'
import { adminList } from './scenarios/admin-list.ts'
import { adminListPages } from './scenarios/admin-list-pages.ts'
import { getUser } from './scenarios/get-user.ts'
import { health } from './scenarios/health.ts'
import { mix } from './scenarios/mix.ts'
import { oauthCodeExchange } from './scenarios/oauth-code-exchange.ts'
import { oauthRefresh } from './scenarios/oauth-refresh.ts'
import { oauthUserinfo } from './scenarios/oauth-userinfo.ts'
import { organizationScenarios } from './scenarios/organizations.ts'
import { passkeySignIn } from './scenarios/passkey-sign-in.ts'
import { putUser } from './scenarios/put-user.ts'
import { recover } from './scenarios/recover.ts'
import { refresh } from './scenarios/refresh.ts'
import { samlAcs } from './scenarios/saml-acs.ts'
import { signIn } from './scenarios/sign-in.ts'
import { signUp } from './scenarios/sign-up.ts'
import { signUpAnonymous } from './scenarios/sign-up-anonymous.ts'
import { totpVerify } from './scenarios/totp-verify.ts'
import { verify } from './scenarios/verify.ts'
import { web3Ethereum, web3Solana } from './scenarios/web3.ts'

/** In the order they run: those that fill the tables come last, so that the others run with few rows. */
export const catalogue: Scenario[] = [
  health,
  getUser,
  refresh,
  signIn,
  putUser,
  adminList,
  adminGet,
  adminListPages,
  verify,
  totpVerify,
  passkeySignIn,
  samlAcs,
  web3Ethereum,
  web3Solana,
  oauthUserinfo,
  oauthRefresh,
  oauthCodeExchange,
  recover,
  signUp,
  signUpAnonymous,
  mix,
  ...organizationScenarios,
]
