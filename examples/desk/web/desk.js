/** The desk's page: the account in front, then `tasks.js` and `board.js`. */
import { openBoard } from "./board.js";
import { announce, onSubmit, parts } from "./dom.js";
import { currentUser, onSessionChange, signIn, signOut, signUp } from "./session.js";
import { clearTasks, openTasks } from "./tasks.js";

const entrance = document.getElementById("entrance");
const tasks = document.getElementById("tasks");
const account = document.getElementById("account");
const { heading, ended, form, nameField, passwordHint, submit, other, switchMode } = parts(entrance);
const { email, name, password } = form.elements;

const modes = {
  in: { heading: "Sign in", busy: "Signing in…", other: "New here?", switchMode: "Create an account" },
  up: { heading: "Create an account", busy: "Creating it…", other: "Already have an account?", switchMode: "Sign in" },
};
let mode = "in";

function setMode(wanted) {
  mode = wanted;
  const isNew = mode === "up";
  heading.textContent = submit.textContent = modes[mode].heading;
  submit.dataset.busy = modes[mode].busy;
  other.textContent = modes[mode].other;
  switchMode.textContent = modes[mode].switchMode;
  nameField.hidden = passwordHint.hidden = name.disabled = !isNew;
  password.minLength = isNew ? 8 : 0;
  password.autocomplete = isNew ? "new-password" : "current-password";
  form.querySelector(".problem").hidden = true;
}

switchMode.addEventListener("click", () => {
  setMode(mode === "in" ? "up" : "in");
  (mode === "up" ? name : email).focus();
});

onSubmit(form, async (input) => {
  await (mode === "up" ? signUp(input) : signIn(input));
  announce(`Welcome, ${currentUser().name}.`);
  document.getElementById("tasks-title").focus();
});

account.querySelector("button").addEventListener("click", async () => {
  await signOut();
  announce("You are signed out.");
  heading.focus();
});

function render({ expired }) {
  const user = currentUser();
  account.hidden = tasks.hidden = !user;
  entrance.hidden = Boolean(user);
  ended.hidden = !expired;
  account.querySelector("span").textContent = user?.name || user?.email || "";
  document.getElementById("to-mine").textContent = user ? "My tasks" : "Sign in";
  clearTasks();
  form.reset();
  setMode("in");
  if (user) openTasks();
  openBoard();
}

onSessionChange(render);
render({ expired: false });
