/** Small text components: states, times, and copyable values. */
import { type ComponentChildren, Fragment } from 'preact'
import { useState } from 'preact/hooks'

import { formatMoment, formatRelative } from '../core/format.ts'
import { Button } from './button.tsx'

export type Tone = 'good' | 'warn' | 'bad' | 'link' | 'plain'

export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}

/** A description as the configuration reference has it, with names between backticks. */
export function Description({ text }: { text: string }) {
  const parts = text.split('`')
  return (
    <>{parts.map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
  )
}

/** A text of several lines, which can be scrolled with the keyboard. */
export function Lines({ label, children }: { label: string; children: string }) {
  return (
    <section class="lines" tabIndex={0} aria-label={label}>
      <pre>{children}</pre>
    </section>
  )
}

/** The name of a variable, which breaks after an underscore. */
export function VariableName({ name }: { name: string }) {
  const parts = name.split(/(?<=_)/)
  return (
    <code class="name">
      {parts.map((part, index) => (
        <Fragment key={index}>
          {part}
          <wbr />
        </Fragment>
      ))}
    </code>
  )
}

/** How long ago, with the moment itself on hover and for screen readers. */
export function Time({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="quiet">–</span>
  return (
    <time class="nowrap" dateTime={at} title={formatMoment(at)}>
      {formatRelative(at)}
    </time>
  )
}

export function Moment({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="quiet">–</span>
  return (
    <time dateTime={at} title={formatRelative(at)}>
      {formatMoment(at)}
    </time>
  )
}

/** A value in a fixed-width font with a copy button. */
export function Copy({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 2000)
  }
  return (
    <span class="copy">
      <code>{text}</code>
      <Button kind="quiet" compact label={`Copy ${label}`} onClick={copy}>
        {isCopied ? 'Copied' : 'Copy'}
      </Button>
    </span>
  )
}

export type Facts = readonly (readonly [name: string, value: ComponentChildren])[]

/** Names and values; entries without a value are omitted. */
export function FactList({ facts }: { facts: Facts }) {
  return (
    <dl class="facts">
      {facts.map(
        ([name, value]) =>
          value !== undefined &&
          value !== null &&
          value !== false &&
          value !== '' && (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ),
      )}
    </dl>
  )
}
