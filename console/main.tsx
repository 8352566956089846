import { type ComponentChildren, render } from 'preact'
import { useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks'

import { changeByApi, getBody } from './core/api.ts'
import { credential, isSignedIn, pageSession, start } from './core/credentials.ts'
import { checkLink, followLink, linkToken } from './core/first-admin.ts'
import { followMe, me } from './core/me.ts'
import { proofRequest } from './core/proof.ts'
import { useResource } from './core/resource.ts'
import { startRouter } from './core/router.ts'
import { dismiss, errorMessage, showError, type Toast, toasts } from './core/toasts.ts'
import { Button } from './parts/button.tsx'
import { Dialog } from './parts/dialog.tsx'
import { TextField } from './parts/fields.tsx'
import { Form, type FormFields } from './parts/form.tsx'
import { Loaded } from './parts/states.tsx'
import { Frame } from './shell/frame.tsx'
import { Brand } from './shell/navigation.tsx'
import { CurrentPage } from './shell/pages.tsx'
import { SignIn } from './shell/sign-in.tsx'

const root = document.getElementById('root')
if (root) {
  startRouter()
  followMe()
  render(<App />, root)
  start()
}

function App() {
  return (
    <>
      <Boundary>
        <Content />
      </Boundary>
      <ProofDialog />
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

/** An error in one page leaves the rest of the console usable. */
function Boundary({ children }: { children: ComponentChildren }) {
  const [error, reset] = useErrorBoundary()
  if (error === undefined) return <>{children}</>
  return (
    <div class="state failed" role="alert">
      <h2>This page cannot be shown</h2>
      <p>The console failed: {errorMessage(error)}. Nothing was changed on the server.</p>
      <Button onClick={reset}>Try again</Button>
    </div>
  )
}

function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <Message key={toast.id} {...toast} />
      ))}
    </div>
  )
}

function Message({ id, kind, text, undo }: Toast) {
  const undone = () => {
    dismiss(id)
    undo?.().catch(showError)
  }
  return (
    <div class={`toast ${kind}`}>
      <span>{text}</span>
      <span class="row">
        {undo && (
          <button type="button" onClick={undone}>
            Undo
          </button>
        )}
        <button type="button" onClick={() => dismiss(id)}>
          Dismiss
        </button>
      </span>
    </div>
  )
}

/** The page of the one-time link. */
function FirstAdmin({ token }: { token: string }) {
  const of = useResource(() => checkLink(token), token)
  return (
    <div class="sign-in">
      <main>
        <Brand />
        <h1>Become an admin</h1>
        <Loaded of={of} lines={3}>
          {({ email, role }) => (
            <>
              <p>
                This link makes you {role === 'support' ? '' : 'an '}
                {role} of this server. It works once.
              </p>
              <Choice token={token} email={email} />
            </>
          )}
        </Loaded>
        <Button kind="quiet" onClick={() => leave()}>
          Sign in instead
        </Button>
      </main>
    </div>
  )
}

function Choice({ token, email }: { token: string; email: string | null }) {
  const user = pageSession.value?.user
  if (user) {
    return (
      <Button kind="primary" onClick={() => followLink({ token })}>
        Continue as {user.email ?? user.phone ?? 'the user who is signed in'}
      </Button>
    )
  }
  return (
    <Form
      submit="Create the account"
      onSubmit={({ email: address = '', password = '' }) =>
        followLink({ token, password, ...(email === null && { email: address }) })
      }
    >
      {email === null ? (
        <TextField name="email" type="email" label="Email" required autoFocus />
      ) : (
        <p>
          Account: <strong>{email}</strong>
        </p>
      )}
      <TextField name="password" type="password" label="Password" required />
    </Form>
  )
}

function leave(): void {
  linkToken.value = undefined
}

/** Above every other dialog: the change in it continues afterwards. */
function ProofDialog() {
  const { value: request } = proofRequest
  const [usesCode, setUsesCode] = useState(false)
  const [isCodeSent, setCodeSent] = useState(false)
  const content = useRef<HTMLDivElement>(null)
  // The browser focuses the first field when the dialog opens, and none that replaces it.
  useEffect(() => content.current?.querySelector('input')?.focus(), [usesCode])
  if (!request) return null
  const end = (then: () => void) => {
    setUsesCode(false)
    setCodeSent(false)
    then()
  }
  const sendCode = async () => {
    if (!isCodeSent) await getBody('/reauthenticate')
    setCodeSent(true)
    setUsesCode(true)
  }
  const confirm = async (fields: FormFields) => {
    await changeByApi('PUT', '/user', fields)
    end(request.confirm)
  }
  return (
    <Dialog title="Confirm your identity" onClose={() => end(request.cancel)}>
      <p>Giving access needs a recent sign-in. The change is made as soon as you confirm.</p>
      <div ref={content}>
        <Form
          key={String(usesCode)}
          submit="Confirm"
          onSubmit={confirm}
          onCancel={() => end(request.cancel)}
        >
          {usesCode ? (
            <CodeField onUsePassword={() => setUsesCode(false)} />
          ) : (
            <PasswordField onSendCode={sendCode} />
          )}
        </Form>
      </div>
    </Dialog>
  )
}

function PasswordField({ onSendCode }: { onSendCode: () => Promise<void> }) {
  return (
    <TextField
      name="current_password"
      type="password"
      label="Your password"
      hint={
        <Button kind="quiet" compact onClick={onSendCode}>
          Send me a code instead
        </Button>
      }
      autoComplete="current-password"
      required
      autoFocus
    />
  )
}

function CodeField({ onUsePassword }: { onUsePassword: () => void }) {
  return (
    <TextField
      name="nonce"
      label="Code"
      hint={
        <>
          From the message that was just sent to you.{' '}
          <Button kind="quiet" compact onClick={onUsePassword}>
            Use your password instead
          </Button>
        </>
      }
      autoComplete="one-time-code"
      required
      autoFocus
    />
  )
}
