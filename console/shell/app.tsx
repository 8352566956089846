import { credential, isSignedIn } from '../core/credentials.ts'
import { linkToken } from '../core/first-admin.ts'
import { me } from '../core/me.ts'
import { Boundary } from './boundary.tsx'
import { FirstAdmin } from './first-admin.tsx'
import { Frame } from './frame.tsx'
import { CurrentPage } from './pages.tsx'
import { SignIn } from './sign-in.tsx'
import { Toasts } from './toasts.tsx'

export function App() {
  return (
    <>
      <Boundary>
        <Content />
      </Boundary>
      <Toasts />
    </>
  )
}

function Content() {
  // Nothing is shown while the session is loading.
  if (credential.value.kind === 'unknown') return null
  if (linkToken.value) return <FirstAdmin token={linkToken.value} />
  if (!isSignedIn.value) return <SignIn />
  // No page is shown before the admin's permissions are known.
  if (!me.value) return null
  return (
    <Frame>
      <Boundary>
        <CurrentPage />
      </Boundary>
    </Frame>
  )
}
