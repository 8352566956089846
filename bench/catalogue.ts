import type { Scenario } from './scenario.ts'
import { adminGet } from './scenarios/admin-get.ts'
import { adminList } from './scenarios/admin-list.ts'
import { adminListPages } from './scenarios/admin-list-pages.ts'
import { getUser } from './scenarios/get-user.ts'
import { health } from './scenarios/health.ts'
import { passkeySignIn } from './scenarios/passkey-sign-in.ts'
import { putUser } from './scenarios/put-user.ts'
import { recover } from './scenarios/recover.ts'
import { refresh } from './scenarios/refresh.ts'
import { signIn } from './scenarios/sign-in.ts'
import { signUp } from './scenarios/sign-up.ts'
import { signUpAnonymous } from './scenarios/sign-up-anonymous.ts'
import { totpVerify } from './scenarios/totp-verify.ts'
import { verify } from './scenarios/verify.ts'

/** In the order they run: those that fill the tables come last, so that the others meet few rows. */
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
  recover,
  signUp,
  signUpAnonymous,
]
