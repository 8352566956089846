/** Sign-in on the hosted pages. */
import callback from './callback.ts'
import create from './create.ts'
import factor from './factor.ts'
import password from './password.ts'
import recover from './recover.ts'
import signIn from './sign-in.ts'

export const pageRoutes = { signIn, create, recover, password, factor, callback }
