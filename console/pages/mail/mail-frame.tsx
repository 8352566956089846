import { useEffect, useRef } from 'preact/hooks'

import { base } from '../../core/base.ts'

/** The HTML of an email, in a frame with an opaque origin and without scripts (POST /console/preview). */
export function MailFrame({ html, title }: { html: string; title: string }) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (html) form.current?.submit()
  }, [html])
  return (
    <>
      <form
        ref={form}
        method="post"
        action={`${base}/console/preview`}
        target="mail-preview"
        hidden
      >
        <input type="hidden" name="html" value={html} />
      </form>
      <iframe class="mail-frame" name="mail-preview" title={title} sandbox="" />
    </>
  )
}
